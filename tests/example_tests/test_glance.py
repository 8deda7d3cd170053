def test_made_up_data(run_example, read_log, device):
    out = run_example('glance/glance.py', '-e', 12, '-d', device)
    log = read_log()
    assert log[-1]['validation/main/accuracy'] > log[0]['validation/main/accuracy'] + 0.05
    assert 'Predicted' in out


def test_file(run_example, tmp_path, read_log):
    rows = ['class,shape,colour'] + ['e,x,w', 'p,y,r'] * 50
    (tmp_path / 'table.csv').write_text('\n'.join(rows))
    run_example('glance/glance.py', '--data', 'table.csv', '-e', 10, '-b', 5)
    assert read_log()[-1]['validation/main/accuracy'] == 1
